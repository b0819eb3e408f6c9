# SPDX-License-Identifier: BSD-3-Clause
"""Several users on one machine, for tests that run as root. Users are numbers without names; each has a home and a
stage."""
import os
import shutil
import subprocess

from mcrtest import COMMAND, HDF5_LIBDIR, HDF5_TOOLS, PLUGINS, PREFIX, Path, expect, program, skip

PROJECT = 64200  # a group that accounts share


class Account:
    def __init__(self, accounts, name, number, groups=()):
        self.accounts, self.t, self.name, self.number, self.groups = accounts, accounts.t, name, number, groups
        self.home = accounts.place / "homes" / name
        self.home.mkdir(parents=True)
        self.own(self.home)
        self.home.chmod(0o700)
        self.stage = self.t.stage_root / name  # mcr makes the stage itself, in a directory of the account's
        self.stage.mkdir(mode=0o700)
        self.own(self.stage)
        self.stage = self.stage / "stage"

    def is_inside(self, path):
        """False if links on the way lead out of the test's own directories."""
        real = Path(os.path.realpath(path))  # which accepts links that lead to themselves
        return any(real.is_relative_to(place.resolve()) for place in (self.t.dir.parent, self.t.stage_root))

    def own(self, path):
        """Gives the file or link to this user, unless links on the way lead out of the test's own directories."""
        if not self.is_inside(os.path.dirname(path) if os.path.islink(path) else path):
            return path
        os.chown(path, self.number, self.number, follow_symlinks=False)
        return path

    def words(self, words, umask=None):
        groups = ["--groups", ",".join(map(str, self.groups))] if self.groups else ["--clear-groups"]
        before = ["sh", "-c", f'umask {umask:03o}; exec "$@"', "sh"] if umask is not None else []
        if self.number == 0:
            return [*before, *map(str, words)]
        return ["setpriv", f"--reuid={self.number}", f"--regid={self.number}", *groups, *before, *map(str, words)]

    def how(self, env, how):
        environment = {"HOME": str(self.home), "LD_LIBRARY_PATH": str(self.accounts.libraries), "XDG_CONFIG_HOME": None, "XDG_CACHE_HOME": None,
                       "HDF5_PLUGIN_PATH": str(self.accounts.plugins), **(env or {})}
        return {"env": environment, "cwd": self.home, "stage": self.stage, **how}

    def run(self, words, umask=None, env=None, **how):
        """Runs a program as this user, with mcr unless mcr=False."""
        return self.t.run(self.words(words, umask), **self.how(env, {"mcr": True, **how}))

    def start(self, words, umask=None, env=None, **how):
        return self.t.start(self.words(words, umask), **self.how(env, {"mcr": True, **how}))

    def mcr(self, *words, env=None, **how):
        return self.t.run(self.words([self.accounts.command, *words]), **self.how(env, {"mcr": False, **how}))

    def actor(self, *actions, **how):
        return self.run([self.accounts.actor, *actions], **how)

    def ranks(self, actions, launch, count=2, umask=None, check=True, **how):
        """Runs `count` ranks of one launch without a launcher; returns how each ended."""
        jobs = [self.start([self.accounts.actor, *actions], umask, {"PMI_RANK": str(rank), "PMI_SIZE": str(count)},
                           launch=launch, **how) for rank in range(count)]
        done = [job.wait(60) for job in jobs]
        for one in done:
            expect(one.status == 0 or not check, str(one))
        return done

    def write(self, directory, launch, seed, count=2, umask=None, name="c", **how):
        """Makes a set of `count` ranks, `c.<rank>.h5`, which is committed when this returns."""
        self.ranks([a for a in (f"create {directory}/{name}.{{rank}}.h5", f"write {directory}/{name}.{{rank}}.h5 x 5000 {seed}",
                                f"close {directory}/{name}.{{rank}}.h5")], launch, count, umask, **how)

    def tool(self, name):
        return self.accounts.tools / name

    def make(self, path, content=b"", mode=0o644):
        """Makes a file that belongs to this user."""
        path.write_bytes(content)
        self.own(path)
        path.chmod(mode)
        return path

    def directory(self, path, mode=0o755, group=None):
        if not self.is_inside(path):
            raise NotADirectoryError(f"{path} leads out of the test's directories")
        path.mkdir(parents=True, exist_ok=True)
        os.chown(path, self.number, self.number if group is None else group)
        path.chmod(mode)
        return path


class Accounts:
    """The users of a test: a victim, a neighbour, two members of a project, and root."""

    def __init__(self, t):
        if os.geteuid() != 0:
            skip("several accounts need root")
        if shutil.which("setpriv") is None:
            skip("several accounts need setpriv (util-linux)")
        self.t, self.place = t, t.dir
        for above in (t.dir, *t.dir.parents):
            if not above.stat().st_mode & 0o001:
                skip(f"other accounts cannot reach {t.dir}: {above} is closed to them")
        t.stage_root.chmod(0o711)
        t.dir.chmod(0o755)
        # Programs and libraries may lie where only root can read them, for example in /root.
        tools = t.scratch("for-all")
        self.libraries, self.tools = tools / "lib", tools / "bin"
        self.libraries.mkdir(parents=True)
        self.tools.mkdir()
        if HDF5_LIBDIR is not None:
            for library in HDF5_LIBDIR.glob("libhdf5*.so*"):
                shutil.copy2(library, self.libraries, follow_symlinks=True)
        for name in ("test/programs/actor", "test/trust/forge"):
            shutil.copy2(program(name), self.tools)
        for name in ("h5dump", "h5ls"):
            if (HDF5_TOOLS / name).exists():
                shutil.copy2(HDF5_TOOLS / name, self.tools)
        prefix = tools / "prefix"
        shutil.copytree(PREFIX, prefix, symlinks=True)
        self.plugins, self.command = prefix / PLUGINS.relative_to(PREFIX), prefix / COMMAND.relative_to(PREFIX)
        subprocess.run(["chmod", "-R", "a+rX", tools], check=True)
        self.actor, self.forge = self.tools / "actor", self.tools / "forge"
        self.victim = Account(self, "victim", 64101)
        self.neighbour = Account(self, "neighbour", 64102)
        self.members = [Account(self, "ada", 64103, (PROJECT,)), Account(self, "bob", 64104, (PROJECT,))]
        self.root = Account(self, "root", 0)

    def forged(self, owner, kind, place, **fields):
        """A file that `owner` made; lists are given as several values."""
        words = []
        for key, value in fields.items():
            words += [f"{key}={one}" for one in (value if isinstance(value, (list, tuple)) else [value])]
        done = subprocess.run([self.forge, kind, place, *words], capture_output=True, text=True,
                              env=dict(os.environ, LD_LIBRARY_PATH=str(self.libraries)))
        expect(done.returncode == 0, done.stderr)
        owner.own(place)
        os.chmod(place, 0o644)
        return place

    def shown(self, path):
        done = subprocess.run([self.forge, "show", path], capture_output=True, text=True, check=True,
                              env=dict(os.environ, LD_LIBRARY_PATH=str(self.libraries)))
        return dict(line.split("=", 1) for line in done.stdout.splitlines())


def everything_below(directory):
    """A snapshot of a directory: names, kinds, owners, modes and contents."""
    found = {}
    for folder, folders, names in os.walk(directory):
        for name in [*folders, *names, "."]:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            content = b""
            if os.path.islink(path):
                content = os.readlink(path).encode()
            elif os.path.isfile(path):
                content = Path(path).read_bytes()
            found[os.path.relpath(path, directory)] = (status.st_mode, status.st_uid, status.st_nlink if not os.path.isdir(path)
                                                       else 0, content)
    return found


def changes(before, after):
    """One line for each difference from the snapshot."""
    lines = [f"{name}: gone" for name in before if name not in after]
    lines += [f"{name}: new, {after[name]}" for name in after if name not in before]
    lines += [f"{name}: {before[name]} is now {after[name]}" for name in before if name in after and before[name] != after[name]]
    return "\n".join(lines)
