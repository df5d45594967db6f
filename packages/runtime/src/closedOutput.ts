/**
 * Lets a command go on to its end and its own exit code after the reader of its output has gone, as with `| head`: what it still writes is
 * dropped. Output that cannot be written for another reason, as on a full disk, ends the command with one line and exit code 1.
 */
export function ignoreClosedOutput(name: string): void {
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') return;
    process.stderr.write(`${name}: the result could not be written to standard output (${code})\n`);
    process.exit(1);
  });
  process.stderr.on('error', () => {});
}
