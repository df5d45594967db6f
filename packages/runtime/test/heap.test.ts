import { killModules, startModule } from './moduleProcess.js';

afterEach(killModules);

/** Makes short-lived and long-lived garbage, and prints how large both parts of the heap became. */
const WORK = `
  const { getHeapSpaceStatistics } = await import('node:v8');
  const sizeOf = (name) => getHeapSpaceStatistics().find((space) => space.space_name === name).space_size;
  const sizes = { young: 0, old: 0 };
  const alive = [];
  for (let made = 0; made < 4_000_000; made++) {
    alive[made % 200_000] = { made, text: 'n'.repeat(1 + (made % 9)), more: [made] };
    if (made % 5_000 !== 0) continue;
    sizes.young = Math.max(sizes.young, sizeOf('new_space'));
    sizes.old = Math.max(sizes.old, sizeOf('old_space'));
  }
  process.stdout.write(JSON.stringify(sizes));
  process.exit(0);`;

async function work(source: string): Promise<{ young: number; old: number }> {
  const { code, stdout, stderr } = await startModule(source).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as { young: number; old: number };
}

it('a process keeps less long-lived garbage than Node.js by default, and as much memory for short-lived objects', async () => {
  const ours = await work(
    `import { runProcess } from '@onecode/runtime'; await runProcess('demo', async () => { ${WORK} });`,
  );
  const plain = await work(`import '@onecode/runtime'; ${WORK}`);
  expect(ours.young).toBe(plain.young);
  expect(ours.old).toBeLessThan((plain.old * 2) / 3);
});
