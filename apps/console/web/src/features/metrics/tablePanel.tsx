import { Code, Table } from '@mantine/core';
import { useDashboardText } from './dashboardTexts.js';
import type { PanelProps } from './panel.js';

/** The labels of what a query found, a row each. */
export function TablePanel({ panel, data }: PanelProps) {
  const text = useDashboardText();
  return (
    <Table.ScrollContainer minWidth={240} mah={240}>
      <Table verticalSpacing={6}>
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
      </Table>
    </Table.ScrollContainer>
  );
}
