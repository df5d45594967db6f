import { ignoreClosedOutput } from '@onecode/runtime/closedOutput';
import { run } from './program.js';

ignoreClosedOutput('onecode');
process.exitCode = await run(process.argv.slice(2));
