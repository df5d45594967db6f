import { installAndCompile } from '../checkout.mjs';
import { Processes } from '../processes/processes.mjs';
import { forgetServices, keepServices, startTestServices } from './testServices.mjs';

/** `npm run services`: starts throwaway services for tests, and keeps them until it is stopped. `npx jest FILE` finds them. */
export async function run() {
  const processes = Processes.throwaway();
  await installAndCompile(processes);
  await processes.stop();
  const services = await startTestServices();
  keepServices(services.env);
  console.log('PostgreSQL, Redis and a browser for tests are ready: run npx jest FILE. Ctrl-C stops them.');
  await new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, resolve);
  });
  forgetServices();
  await services.stop();
  process.exit(0);
}
