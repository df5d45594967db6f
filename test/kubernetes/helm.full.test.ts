import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeIf } from '@onecode/testing';
import { Ajv } from 'ajv';
import { VERSION } from '@onecode/runtime';
import { parse } from 'yaml';
import { fetchCustomTypes, findKubernetesProgram } from '../../scripts/services/kubernetes.mjs';
import {
  manifestFaults,
  objectsFrom,
  ofKind,
  render,
  renderKustomization,
  type KubernetesObject,
} from './manifests.js';

type Values = Record<string, unknown>;

const HELM = findKubernetesProgram('helm', { isFetched: true });
const KUBECTL = findKubernetesProgram('kubectl', { isFetched: true });
const CHART = 'deploy/helm/onecode';
const SETTINGS = {
  PROXY_NAMESPACE: 'gateway',
  MONITORING_NAMESPACE: 'monitoring',
  GATEWAY: 'public',
  GATEWAY_NAMESPACE: 'gateway',
  GATEWAY_LISTENER: 'https',
  INGRESS_CLASS: 'traefik',
  PROMETHEUS_URL: 'http://prometheus.monitoring.svc:9090',
};
const ADDRESSES = {
  BASE_URL: 'https://codes.example.com',
  CONSOLE_URL: 'https://console.example.com',
  WHATSAPP_API_URL: 'https://graph.facebook.com/v25.0',
};
const PEERS = {
  'networkPolicies.postgresql.to': [{ ipBlock: { cidr: '10.0.0.10/32' } }],
  'networkPolicies.redis.to': [{ ipBlock: { cidr: '10.0.0.11/32' } }],
};
const REQUIRED: Values = {
  'config.BASE_URL': ADDRESSES.BASE_URL,
  'config.CONSOLE_URL': ADDRESSES.CONSOLE_URL,
  ...PEERS,
};

/** The arguments that set values, by path. */
const setting = (values: Values): string[] =>
  Object.entries(values).flatMap(([path, value]) => ['--set-json', `${path}=${JSON.stringify(value)}`]);
const templateWith = (args: readonly string[]): KubernetesObject[] =>
  objectsFrom(HELM!, ['template', 'onecode', CHART, '--namespace', 'onecode', ...args]);
const template = (values: Values): KubernetesObject[] => templateWith(setting({ ...REQUIRED, ...values }));

const schema = JSON.parse(readFileSync(`${CHART}/values.schema.json`, 'utf8')) as Schema;
const defaults = parse(readFileSync(`${CHART}/values.yaml`, 'utf8')) as Values;

interface Schema {
  $ref?: string;
  type?: string;
  enum?: string[];
  properties?: Record<string, Schema>;
  definitions?: Record<string, Schema>;
}

/** The values that a schema describes, with their paths. */
function valuesOf(part: Schema, path = ''): [string, Schema][] {
  const { $ref, properties } = part;
  if ($ref !== undefined) return valuesOf(schema.definitions![$ref.replace('#/definitions/', '')]!, path);
  if (properties === undefined) return [[path, part]];
  return Object.entries(properties).flatMap(([name, one]) =>
    valuesOf(one, path === '' ? name : `${path}.${name}`),
  );
}

/** Every position of every switch: a boolean, a word of several, and a variable that switches a feature on. */
const POSITIONS: Values[] = [
  ...valuesOf(schema)
    .filter(([path]) => path !== 'config.LOG_LEVEL')
    .flatMap(([path, { type, enum: words }]) =>
      (type === 'boolean' ? [true, false] : (words ?? [])).map((value) => ({ [path]: value })),
    ),
  { 'config.MAIL_FROM': 'codes@example.com' },
  { 'config.OIDC_ISSUER': 'https://id.example.com', 'config.OIDC_CLIENT_ID': 'onecode' },
];

/** Names and labels that only Helm or only Kustomize sets, and that do not change the processes. */
const ONLY_ONE_HAS = new Set([
  'app.kubernetes.io/name',
  'app.kubernetes.io/instance',
  'app.kubernetes.io/version',
  'app.kubernetes.io/managed-by',
  'helm.sh/chart',
  'helm.sh/hook',
  'helm.sh/hook-delete-policy',
  'argocd.argoproj.io/hook',
  'argocd.argoproj.io/hook-delete-policy',
  'checksum/config',
]);

/** Returns a part of an object without such names, and with variables in order. */
function comparable(part: unknown): unknown {
  if (Array.isArray(part)) {
    const parts = part.map(comparable);
    const areVariables = parts.every((one) => /^[A-Z][A-Z_]+$/.test((one as { name?: string })?.name ?? ''));
    return areVariables ? parts.toSorted((a: any, b: any) => a.name.localeCompare(b.name)) : parts;
  }
  // Helm's names begin with that of the release.
  if (typeof part === 'string') return part.replace(/^(http:\/\/)?onecode-(?=[a-z-]+$)/, '$1');
  if (typeof part !== 'object' || part === null) return part;
  const members = Object.entries(part)
    .filter(([name]) => !ONLY_ONE_HAS.has(name))
    .map(([name, value]) => [name, comparable(value)] as const)
    .filter(
      ([name, value]) =>
        !['labels', 'annotations', 'matchLabels'].includes(name) || Object.keys(value as object).length > 0,
    );
  return Object.fromEntries(members);
}

const byName = (objects: readonly KubernetesObject[]): Record<string, unknown> =>
  Object.fromEntries(
    objects.map((one) => {
      const { metadata, ...rest } = comparable(one) as KubernetesObject;
      const { namespace: _, ...others } = metadata;
      return [`${rest.kind} ${metadata.name}`, { metadata: others, ...rest }];
    }),
  );

/** Renders the Kustomize base with components. */
function kustomized(
  components: readonly string[],
  literals: Record<string, string>,
  scaled: readonly string[],
): KubernetesObject[] {
  const lines = (variables: Record<string, string>): string[] =>
    Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const objects = renderKustomization(KUBECTL!, {
    namespace: 'onecode',
    resources: ['base', 'overlays/production/network-policies.yaml'],
    components: ['hardening', 'namespaces', ...components].map((name) => `components/${name}`),
    images: ['api', 'worker', 'console', 'operator'].map((name) => ({
      name: `onecode-${name}`,
      newName: `images.example.com/onecode/${name}`,
      newTag: VERSION,
    })),
    configMapGenerator: [
      { name: 'onecode', behavior: 'merge', literals: lines({ ...ADDRESSES, ...literals }) },
      {
        name: 'settings',
        literals: lines(SETTINGS),
        options: { annotations: { 'config.kubernetes.io/local-config': 'true' } },
      },
    ],
    replicas: ['api', 'worker', 'console']
      .filter((name) => !scaled.includes(name))
      .map((name) => ({ name, count: 1 })),
    labels: [{ pairs: { 'app.kubernetes.io/part-of': 'onecode' }, includeTemplates: true }],
  });
  return withoutHash(objects);
}

/** Returns objects of Kustomize with the ConfigMap's name, which ends with a hash, as Helm names it. */
function withoutHash(objects: readonly KubernetesObject[]): KubernetesObject[] {
  const { name } = ofKind(objects, 'ConfigMap')[0]!.metadata;
  return JSON.parse(JSON.stringify(objects).replaceAll(`"${name}"`, '"onecode"')) as KubernetesObject[];
}

describe('values.schema.json', () => {
  const validate = new Ajv({ strictTypes: false, strictRequired: false }).compile(schema);

  it('is a valid schema that describes every value of values.yaml, and no other', () => {
    const paths = valuesOf(schema).map(([path]) => path);
    const found = (path: string): unknown =>
      path.split('.').reduce<any>((part, name) => (part === undefined ? part : part[name]), defaults);
    // Helm gives each chart the value `global`.
    expect(paths.filter((path) => found(path) === undefined)).toEqual(['global']);
    expect(
      validate({
        ...defaults,
        config: { ...(defaults['config'] as Values), ...ADDRESSES },
        networkPolicies: { enabled: false },
      }),
    ).toBe(true);
  });

  it.each([
    ['a value with a wrong name', { autoScaling: { type: 'cpu' } }],
    ['a missing address', { config: { CONSOLE_URL: 'https://console.example.com' } }],
    ['a number as a variable', { worker: { env: { DELIVERY_CONCURRENCY: 10_000_000 } } }],
    ['network policies without the address of PostgreSQL', { networkPolicies: { postgresql: { to: [] } } }],
    ['an unknown autoscaler', { autoscaling: { type: 'adapter' } }],
  ])('refuses %s', (_, values) => {
    const given = { networkPolicies: { enabled: true }, ...values };
    expect(validate(given)).toBe(false);
  });
});

const CUSTOM_TYPES = fetchCustomTypes();

describeIf(CUSTOM_TYPES !== undefined)('the check of custom resources', () => {
  it.each([
    ['gateway.networking.k8s.io/v1', 'HTTPRoute', { hostname: 'a' }],
    ['keda.sh/v1alpha1', 'ScaledObject', { scaleTargetRef: { name: 'api' }, triggers: [{ kind: 'cpu' }] }],
    ['monitoring.coreos.com/v1', 'PodMonitor', { selector: {}, podMetricsEndpoints: [{ ports: 'a' }] }],
  ])('finds a misspelt member of %s', (apiVersion, kind, spec) => {
    expect(manifestFaults([{ apiVersion, kind, metadata: { name: 'a' }, spec }], CUSTOM_TYPES)).toHaveLength(
      1,
    );
  });
});

const isComplete = HELM !== null && KUBECTL !== null;
describeIf(isComplete)(
  `deploy/helm/onecode${isComplete ? '' : ' (skipped: no Helm for this machine)'}`,
  () => {
    it('passes lint, and renders valid objects with unique names, with every position of every switch', () => {
      const all = new Map<string, KubernetesObject>();
      for (const values of POSITIONS) {
        objectsFrom(HELM!, ['lint', '--strict', '--quiet', CHART, ...setting({ ...REQUIRED, ...values })]);
        const objects = template(values);
        const ids = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
        expect(new Set(ids).size).toBe(ids.length);
        for (const one of objects) all.set(JSON.stringify(one), one);
      }
      expect(manifestFaults([...all.values()], CUSTOM_TYPES)).toEqual([]);
    });

    it('renders the objects of the Kustomize base with its defaults', () => {
      expect(byName(template({}))).toEqual(byName(kustomized([], {}, [])));
    });

    it('renders the objects of the components gateway, keda, prometheus-operator, mail and oidc', () => {
      const values = {
        'config.MAIL_FROM': 'codes@example.com',
        'config.OIDC_ISSUER': 'https://id.example.com',
        'config.OIDC_CLIENT_ID': 'onecode',
        'config.OIDC_MISSING_EMAIL_VERIFIED': 'trust',
        'gateway.enabled': true,
        'autoscaling.type': 'keda',
        'monitoring.podMonitor': true,
        'monitoring.prometheusRule': true,
      };
      const literals = {
        PROXY_HOPS: '1',
        MAIL_FROM: 'codes@example.com',
        OIDC_ISSUER: 'https://id.example.com',
        OIDC_CLIENT_ID: 'onecode',
        OIDC_MISSING_EMAIL_VERIFIED: 'trust',
      };
      const components = ['gateway', 'keda', 'prometheus-operator', 'mail', 'oidc'];
      const expected = kustomized(components, literals, ['api', 'worker']);
      expect(manifestFaults(expected, CUSTOM_TYPES)).toEqual([]);
      expect(byName(template(values))).toEqual(byName(expected));
    });

    it('renders the objects of the components ingress and hpa', () => {
      const values = { 'ingress.enabled': true, 'ingress.className': 'traefik', 'autoscaling.type': 'cpu' };
      const expected = kustomized(['ingress', 'hpa'], { PROXY_HOPS: '1' }, ['api', 'worker']);
      expect(byName(template(values))).toEqual(byName(expected));
    });

    it('renders the objects of the component pooler', () => {
      const expected = kustomized(['pooler'], {}, []);
      expect(byName(template({ databasePooler: 'transaction' }))).toEqual(byName(expected));
    });

    it('renders the objects of overlays/production with the values of docs/kubernetes.md', () => {
      const [, example] = /^### With Helm$[^]*?```yaml\n([^]*?)```/m.exec(
        readFileSync('docs/kubernetes.md', 'utf8'),
      )!;
      const folder = mkdtempSync(join(tmpdir(), 'onecode-values-'));
      const file = join(folder, 'onecode.yaml');
      writeFileSync(file, example!);
      const objects = templateWith(['--values', file]);
      rmSync(folder, { recursive: true });
      const production = render(KUBECTL!, 'overlays/production').filter(({ kind }) => kind !== 'Namespace');
      expect(byName(objects)).toEqual(byName(withoutHash(production)));
    });

    it('renders only the processes with every switch off', () => {
      const values = {
        'podDisruptionBudgets.enabled': false,
        'networkPolicies.enabled': false,
        'migration.enabled': false,
        'monitoring.annotations': false,
      };
      const kinds = new Set(['ConfigMap', 'Service', 'Deployment']);
      const expected = kustomized([], {}, []).filter(({ kind }) => kinds.has(kind));
      for (const { spec } of ofKind(expected, 'Deployment')) delete spec.template.metadata.annotations;
      expect(byName(template(values))).toEqual(byName(expected));
    });

    it('runs the migration before each install and upgrade', () => {
      const [job] = ofKind(template({}), 'Job');
      expect(job!.metadata).toMatchObject({
        annotations: {
          'helm.sh/hook': 'pre-install,pre-upgrade',
          'helm.sh/hook-delete-policy': 'before-hook-creation',
        },
      });
    });
  },
);
