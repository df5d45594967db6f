import { linesOf, startModule, type ModuleProcess } from './moduleProcess.js';

export const CONFIG = {
  LOG_LEVEL: 'info',
  METRICS_HOST: '127.0.0.1',
  OTEL_EXPORTER_OTLP_ENDPOINT: '',
};

/** Starts a process that runs `start` at its start and `stop` at its stop. It logs `ready` at the end of its start. */
export function startProcess(parts: {
  before?: string;
  start?: string;
  report?: string;
  drain?: string;
  delayMs?: number;
  port?: number;
  stop?: string;
}): ModuleProcess {
  return startModule(
    `import { runProcess } from '@onecode/runtime';
     const alive = setInterval(() => {}, 1000);
     ${parts.before ?? ''}
     const readConfig = () => (${JSON.stringify({ ...CONFIG, METRICS_PORT: parts.port ?? 0, SHUTDOWN_DELAY_MS: parts.delayMs })});
     await runProcess('demo', readConfig, async (config, log) => {
       ${parts.start ?? ''}
       return {
         readiness: { failedChecks: async () => [], drain() { ${parts.drain ?? ''} } },
         presence: {
           report: async () => { ${parts.report ?? 'return null;'} },
           end: async () => log.info('presence ended'),
         },
         async stop() { ${parts.stop ?? ''} },
       };
     });`,
  );
}

export const messagesOf = (stdout: string): unknown[] => linesOf(stdout).map((line) => line['msg']);
