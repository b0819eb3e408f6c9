// SPDX-License-Identifier: BSD-3-Clause
// A libcuda.so.1 that does what MCR_STUCK_CUDA says while it is loaded: "hang" never comes back, "exit" ends the process
// with status 0, "exit:FILE" each process but the first one, which makes FILE, and "kill" kills it.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void load(void) {
  const char* const what = getenv("MCR_STUCK_CUDA");
  if (what == NULL) return;
  while (strcmp(what, "hang") == 0) pause();
  if (strcmp(what, "exit") == 0) exit(0);
  if (strcmp(what, "kill") == 0) kill(getpid(), SIGKILL);
  if (strncmp(what, "exit:", 5) == 0 && open(what + 5, O_CREAT | O_EXCL | O_WRONLY, 0600) < 0)
    exit(0);
}
