/**
 * Lets a command finish with its own exit code after the reader of its output has closed the pipe, as with `| head`: further output is
 * dropped. If output cannot be written for another reason, such as a full disk, the command ends with one line and exit code 1.
 */
export function ignoreClosedOutput(name: string): void {
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') return;
    process.stderr.write(`${name}: the result could not be written to standard output (${code})\n`);
    process.exit(1);
  });
  process.stderr.on('error', () => {});
}
