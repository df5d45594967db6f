import { createTheme, type MantineColorsTuple } from '@mantine/core';

/** The green of the documentation's pages, in ten shades. */
const BRAND: MantineColorsTuple = [
  '#f0fdfa',
  '#ccfbf1',
  '#99f6e4',
  '#5eead4',
  '#2dd4bf',
  '#14b8a6',
  '#0d9488',
  '#0f766e',
  '#115e59',
  '#134e4a',
];

/** How the console looks: one accent, quiet surfaces, the same corners everywhere. */
export const theme = createTheme({
  colors: { brand: BRAND },
  primaryColor: 'brand',
  primaryShade: 7,
  autoContrast: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  fontFamily: "'Inter Variable', system-ui, sans-serif",
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: { fontWeight: '650' },
  respectReducedMotion: true,
  components: {
    // In a narrow column a badge would shorten its word.
    Badge: { defaultProps: { variant: 'light', tt: 'none', fw: 550, miw: 'max-content' } },
    // What scrolls sideways on a phone has to scroll by the keyboard too.
    TableScrollContainer: {
      defaultProps: { scrollAreaProps: { offsetScrollbars: 'present', viewportProps: { tabIndex: 0 } } },
    },
  },
});
