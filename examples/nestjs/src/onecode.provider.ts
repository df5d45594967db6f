import type { FactoryProvider } from '@nestjs/common';
import { Onecode } from '@onecode/client';

/** One client for the whole application. It refuses to start without a key and an address. */
export const onecodeProvider: FactoryProvider<Onecode> = {
  provide: Onecode,
  useFactory: () => {
    const { ONECODE_API_KEY = '', ONECODE_URL = '', ONECODE_TIMEOUT_MS = '10000' } = process.env;
    return new Onecode({
      apiKey: ONECODE_API_KEY,
      baseUrl: ONECODE_URL,
      timeoutMs: Number(ONECODE_TIMEOUT_MS),
    });
  },
};
