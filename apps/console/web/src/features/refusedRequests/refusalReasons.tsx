import { NavLink, Paper, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { RefusalReasonView } from '../../../../src/features/refusedRequests/view.js';
import { Ago } from '../../components/times.js';
import { useNumbers } from '../../hooks/formats.js';
import type { RefusedRequestQuery } from './refusedRequestQuery.js';

/** What the API said and how often. Each reason is a filter: a second click takes it away. */
export function RefusalReasons({
  reasons,
  chosen,
  onChoose,
}: {
  reasons: readonly RefusalReasonView[];
  chosen: RefusedRequestQuery;
  onChoose: (reason: RefusalReasonView | null) => void;
}) {
  const { t } = useTranslation('refusedRequests');
  const { whole } = useNumbers();
  return (
    <Paper withBorder role="group" aria-label={t('reasons')}>
      {reasons.map((reason) => {
        const { status, code, detail, fields, count, lastRefusedAt } = reason;
        const isChosen = chosen.code === code && chosen.detail === detail && chosen.fields === fields.join();
        const invalid = t('fields', { count: fields.length, fields: fields.join(', ') });
        return (
          <NavLink
            key={[code, detail, ...fields].join()}
            component="button"
            type="button"
            active={isChosen}
            aria-pressed={isChosen}
            onClick={() => onChoose(isChosen ? null : reason)}
            // The sentence of the answer is in English in every language of the pages.
            label={<span lang="en">{detail}</span>}
            description={`${status} ${code}${fields.length > 0 ? ` · ${invalid}` : ''}`}
            rightSection={
              <Text size="sm" ta="right" component="span" className="tabular">
                {t('times', { count, times: whole(count) })}
                <br />
                <Ago at={lastRefusedAt} />
              </Text>
            }
          />
        );
      })}
    </Paper>
  );
}
