import { startModule, type ModuleProcess } from './moduleProcess.js';

export const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** Starts a process with a span in a trace, and a failed child span. It logs `ready` after they have ended. */
export const startProcess = (env: Record<string, string> = {}): ModuleProcess =>
  startModule(
    `import { createReadiness, describeSpan, inSpan, runProcess, traceparentOf } from '@onecode/runtime';
     const { OTEL_EXPORTER_OTLP_ENDPOINT = '', OTEL_EXPORTER_OTLP_PROTOCOL } = process.env;
     const readConfig = () => ({ LOG_LEVEL: 'info', METRICS_HOST: '127.0.0.1', METRICS_PORT: 0, OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL });
     await runProcess('demo', readConfig, async (config, log) => {
       await inSpan('outer', { parent: '${PARENT}' }, async (span) => {
         log.info({ traceparent: traceparentOf(span) }, 'inside');
         describeSpan({ fact: 1 }, '${PARENT}');
         await inSpan('inner', {}, async () => { throw new TypeError('a secret'); }).catch(() => {});
       });
       const presence = { report: async () => null, end: async () => {} };
       return { readiness: createReadiness(log, {}), presence, stop: async () => {} };
     });`,
    env,
  );
