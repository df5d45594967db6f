import { Code, Table } from '@mantine/core';
import { ScrollingTable } from '../../components/scrollingTable.js';
import { useDashboardText } from './dashboardTexts.js';
import type { PanelProps } from './panel.js';

/** In pixels; more rows scroll. */
const HEIGHT_MAX = 240;

/** The labels of what a query found, a row each. */
export function TablePanel({ panel, data }: PanelProps) {
  const text = useDashboardText();
  return (
    <ScrollingTable label={text(panel.title)} minWidth={240} maxHeight={HEIGHT_MAX} verticalSpacing={6}>
      <Table.Thead>
        <Table.Tr>
          {panel.columns.map(({ label, title }) => (
            <Table.Th key={label}>{text(title)}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {data.series.map(({ labels }) => (
          <Table.Tr key={JSON.stringify(labels)}>
            {panel.columns.map(({ label }) => (
              <Table.Td key={label}>
                <Code>{labels[label] ?? ''}</Code>
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ScrollingTable>
  );
}
