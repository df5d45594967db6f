// Preloaded into PostgreSQL: a disk that takes longer to flush. PostgreSQL flushes with fdatasync on Linux.
#include <sys/syscall.h>
#include <unistd.h>

static int flush_slowly(long call, int file) {
  usleep(FLUSH_US);
  return syscall(call, file);
}

int fdatasync(int file) { return flush_slowly(SYS_fdatasync, file); }
int fsync(int file) { return flush_slowly(SYS_fsync, file); }
