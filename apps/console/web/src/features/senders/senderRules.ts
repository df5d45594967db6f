import { useTranslation } from 'react-i18next';
import type { SendersView } from '../../../../src/features/senders/view.js';
import { useNumbers } from '../../hooks/formats.js';

type Rule<T> = (value: T) => string | null;

/** What can stand in the fields of a sender, as the server has it. */
export function useSenderRules({ min, max }: SendersView['throughputBounds'] = { min: 1, max: 1 }) {
  const { t } = useTranslation(['senders', 'staff']);
  const { whole } = useNumbers();
  const form =
    (pattern: RegExp, fault: string): Rule<string> =>
    (value) =>
      pattern.test(value.trim()) ? null : fault;
  const throughput: Rule<number> = (value) =>
    Number.isInteger(value) && value >= min && value <= max
      ? null
      : t('staff:settings.bounds', { min: whole(min), max: whole(max) });
  return {
    throughput,
    token: form(/^[\x21-\x7e]{1,4096}$/, t('faults.token')),
    phoneNumberId: form(/^[0-9]{1,32}$/, t('faults.phoneNumberId')),
    // Whether it can be a number of its country is for the server to say.
    number: form(/^\+[0-9 ()-]{5,}$/, t('faults.number')),
    template: form(/^[a-z0-9_]{1,512}$/, t('faults.template')),
  };
}
