import { createHighlighter } from 'shiki';
import { classTransformer, THEME, withoutTimeLimit } from '../src/codeColours.js';

it('the highlighter colours code the same on a slow machine, and does not split addresses', async () => {
  const highlighter = await createHighlighter({ themes: [THEME], langs: ['php'] });
  const coloured = (): string =>
    highlighter.codeToHtml(`<?php\n$answer = get('https://api.example.com/v1/send', false, $context);`, {
      lang: 'php',
      theme: THEME,
      transformers: [classTransformer],
    });
  // Before the first call, because a busy machine can reach the limit by itself.
  withoutTimeLimit(highlighter);
  const usual = coloured();
  expect(usual).toContain('https://api.example.com/v1/send');
  // Each read of the clock is a second later.
  const { now } = Date;
  let clock = now();
  Date.now = () => (clock += 1_000);
  try {
    expect(coloured()).toBe(usual);
  } finally {
    Date.now = now;
    highlighter.dispose();
  }
});
