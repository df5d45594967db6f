import { createHighlighter } from 'shiki';
import { classTransformer, THEME, withoutTimeLimit } from '../src/codeColours.js';

it('colours code alike on a machine that takes its time, and divides no address', async () => {
  const highlighter = await createHighlighter({ themes: [THEME], langs: ['php'] });
  const coloured = (): string =>
    highlighter.codeToHtml(`<?php\n$answer = get('https://api.example.com/v1/send', false, $context);`, {
      lang: 'php',
      theme: THEME,
      transformers: [classTransformer],
    });
  // Before the first call: a busy machine reaches the limit by itself.
  withoutTimeLimit(highlighter);
  const usual = coloured();
  expect(usual).toContain('https://api.example.com/v1/send');
  // Each look at the clock finds a second gone.
  const { now } = Date;
  let told = now();
  Date.now = () => (told += 1_000);
  try {
    expect(coloured()).toBe(usual);
  } finally {
    Date.now = now;
    highlighter.dispose();
  }
});
