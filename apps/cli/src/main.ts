import { run } from './program.js';

process.stdout.on('error', () => {
  process.stderr.write('onecode: the result could not be written to standard output\n');
  process.exit(1);
});
process.exitCode = await run(process.argv.slice(2));
