import { Table, type TableProps } from '@mantine/core';

/** A table that scrolls where there is no room for it, by keyboard too. */
export function ScrollingTable({
  label,
  minWidth,
  ...table
}: TableProps & {
  /** Its name. */
  label: string;
  /** In pixels; it scrolls where there are fewer. */
  minWidth: number;
}) {
  return (
    <Table.ScrollContainer
      minWidth={minWidth}
      scrollAreaProps={{
        offsetScrollbars: 'present',
        viewportProps: { tabIndex: 0, role: 'group', 'aria-label': label },
      }}
    >
      <Table verticalSpacing="xs" aria-label={label} {...table} />
    </Table.ScrollContainer>
  );
}
