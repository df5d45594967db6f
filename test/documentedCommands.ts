import { readFileSync } from 'node:fs';

/** Returns the blocks of commands of a page by their heading, in their order. */
export function blocksOf(page: string): { heading: string; text: string }[] {
  let heading = '';
  const blocks: { heading: string; text: string }[] = [];
  for (const [whole, title, indent, text] of readFileSync(`docs/${page}.md`, 'utf8').matchAll(
    /^#+ ([^\n]*)$|^( *)```sh\n(.*?)^ *```$/gms,
  ))
    if (title !== undefined) heading = title;
    else if (whole !== '')
      blocks.push({ heading, text: text!.replaceAll(new RegExp(`^${indent}`, 'gm'), '') });
  return blocks;
}
