import { Code, Table } from '@mantine/core';
import { useDashboardText } from './dashboardTexts.js';
import type { PanelProps } from './panel.js';

/** In pixels; more rows scroll. */
const HEIGHT_MAX = 240;

/** The labels of what a query found, a row each. */
export function TablePanel({ panel, data }: PanelProps) {
  const text = useDashboardText();
  const title = text(panel.title);
  return (
    <Table.ScrollContainer
      minWidth={240}
      maxHeight={HEIGHT_MAX}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'group', 'aria-label': title } }}
    >
      <Table verticalSpacing={6} aria-label={title}>
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
