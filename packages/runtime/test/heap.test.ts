import { endScripts, startScript } from './script.js';

afterEach(endScripts);

/** Makes garbage of what has grown old, and says how large the heap became for it, in bytes. */
const WORK = `
  const { getHeapSpaceStatistics } = await import('node:v8');
  const old = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space').space_size;
  let most = 0;
  const alive = [];
  for (let made = 0; made < 4_000_000; made++) {
    alive[made % 200_000] = { made, text: 'n'.repeat(1 + (made % 9)), more: [made] };
    if (made % 5_000 === 0) most = Math.max(most, old());
  }
  process.stdout.write(String(most));
  process.exit(0);`;

async function work(source: string): Promise<number> {
  const { code, stdout, stderr } = await startScript(source).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return Number(stdout);
}

it('a process keeps less garbage than Node.js would keep by itself for the same work', async () => {
  const ours = await work(
    `import { runProcess } from '@onecode/runtime'; await runProcess('demo', async () => { ${WORK} });`,
  );
  const plain = await work(`import '@onecode/runtime'; ${WORK}`);
  expect(ours).toBeLessThan((plain * 2) / 3);
});
