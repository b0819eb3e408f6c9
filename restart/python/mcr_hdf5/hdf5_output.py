# SPDX-License-Identifier: BSD-3-Clause
"""A file that h5py writes through Python."""
import os


class HDF5Output:
    """An open file as h5py's driver `fileobj` takes it: nobody can replace it by a link. HDF5 ends the process with a segmentation fault if
    it cannot write when it closes a file. So the first failure is kept for expect_written(), and what follows it is not written."""

    def __init__(self, file):
        self._descriptor, self._place, self._failure = file.fileno(), 0, None

    def expect_written(self):
        if self._failure is not None:
            raise self._failure

    def seek(self, offset, whence=os.SEEK_SET):
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: os.fstat(self._descriptor).st_size}[whence]
        self._place = start + offset
        return self._place

    def tell(self):
        return self._place

    def read(self, size):
        buffer = bytearray(size)
        return bytes(buffer[:self.readinto(buffer)])

    def readinto(self, buffer):
        count = os.preadv(self._descriptor, [buffer], self._place)
        self._place += count
        return count

    def write(self, data):
        rest = memoryview(data).cast("B")
        size = len(rest)
        self._keep_failure(self._write, rest)
        self._place += size
        return size

    def truncate(self, size=None):
        self._keep_failure(os.ftruncate, self._descriptor, self._place if size is None else size)

    def flush(self):
        pass

    def _write(self, rest):
        place = self._place
        while rest:
            count = os.pwrite(self._descriptor, rest, place)
            rest, place = rest[count:], place + count

    def _keep_failure(self, function, *words):
        try:
            if self._failure is None:
                function(*words)
        except BaseException as error:  # KeyboardInterrupt too
            self._failure = error
