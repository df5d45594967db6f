import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeIf } from '@onecode/testing';
import { parse } from 'yaml';
import { findKubernetesProgram } from '../../scripts/services/kubernetes.mjs';
import { faultsOf, READERS } from '../processVariables.js';
import { metricOf, OWN_METRICS } from '../prometheus/declaredMetrics.js';
import {
  manifestFaults,
  ofKind,
  OVERLAYS,
  render,
  renderKustomization,
  selects,
  workloadsOf,
  type Container,
  type KubernetesObject,
  type Workload,
} from './manifests.js';

const KUBECTL = findKubernetesProgram('kubectl', { isFetched: process.env['ALL_TESTS'] === '1' });
const NONE = ' (skipped: no kubectl; npm run test:all fetches it for Linux on amd64)';
const fileOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const compose = parse(fileOf('docker-compose.yml'), { merge: true }) as {
  services: Record<string, { image?: string }>;
};

const STOP_SECONDS_MAX = 10;
const SECRET = Buffer.alloc(32).toString('base64');
/** A value for every secret. */
const SECRETS: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgresql://onecode:planted@db/onecode',
  MIGRATE_DATABASE_URL: 'postgresql://onecode:planted@db/onecode',
  REDIS_URL: 'redis://:planted@redis',
  CODE_PEPPER: SECRET,
  NUMBER_PEPPER: SECRET,
  SECRET_KEY: SECRET,
  SESSION_SECRET: SECRET,
  WHATSAPP_APP_SECRET: 'secret',
  WHATSAPP_VERIFY_TOKEN: 'token',
};
/** The variables of the other programs, all required. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  migration: ['MIGRATE_DATABASE_URL_FILE'],
  operator: [
    'BASE_URL',
    'WHATSAPP_API_URL',
    'DATABASE_URL_FILE',
    'REDIS_URL_FILE',
    'NUMBER_PEPPER_FILE',
    'SECRET_KEY_FILE',
  ],
};

const names = (container: Container): string[] => (container.env ?? []).map(({ name }) => name);
const literal = (container: Container, name: string): string | undefined =>
  container.env?.find((one) => one.name === name)?.value;

it('the check of manifests finds unknown kinds, and missing, misspelt or wrongly typed members', () => {
  const service = (port: object, kind = 'Service'): KubernetesObject => ({
    apiVersion: 'v1',
    kind,
    metadata: { name: 'api' },
    spec: { ports: [port] },
  });
  const faults = manifestFaults([
    service({ port: 80 }, 'Servise'),
    service({ port: { number: 80 } }),
    service({ name: 'http' }),
    service({ port: 80, targetPorts: 'http' }),
  ]);
  for (const [index, fault] of ['Servise', 'number', 'port', 'targetPorts'].entries())
    expect(faults[index]).toContain(fault);
});

describeIf(KUBECTL !== null)(`deploy/kubernetes/components${KUBECTL ? '' : NONE}`, () => {
  /** The production overlay with a component and its configuration. */
  function withComponent(component: string, literals: string[]): KubernetesObject[] {
    const objects = renderKustomization(KUBECTL!, {
      namespace: 'onecode',
      resources: ['overlays/production'],
      components: [`components/${component}`],
      configMapGenerator: [{ name: 'onecode', behavior: 'merge', literals }],
    });
    expect(manifestFaults(objects)).toEqual([]);
    return objects;
  }

  /** The base with components instead of those of the production overlay. */
  function baseWith(components: string[]): KubernetesObject[] {
    const settings = [
      'PROXY_NAMESPACE=kube-system',
      'MONITORING_NAMESPACE=prometheus',
      'INGRESS_CLASS=traefik',
    ];
    const objects = renderKustomization(KUBECTL!, {
      resources: ['base'],
      components: components.map((name) => `components/${name}`),
      configMapGenerator: [
        {
          name: 'onecode',
          behavior: 'merge',
          literals: [
            'BASE_URL=https://api.example.org',
            'CONSOLE_URL=https://staff.example.org',
            'WHATSAPP_API_URL=https://graph.facebook.com/v25.0',
          ],
        },
        {
          name: 'settings',
          literals: settings,
          options: { annotations: { 'config.kubernetes.io/local-config': 'true' } },
        },
      ],
    });
    expect(manifestFaults(objects)).toEqual([]);
    return objects;
  }

  it('namespaces sets the namespaces of the proxies and of Prometheus', () => {
    const policies = ofKind(baseWith(['namespaces']), 'NetworkPolicy');
    const peersOf = (name: string): string => {
      const { ingress, egress } = policies.find(({ metadata }) => metadata.name === name)!['spec'];
      const [{ from, to }] = ingress ?? egress;
      return (from ?? to)[0].namespaceSelector.matchLabels['kubernetes.io/metadata.name'];
    };
    expect(['http', 'webhook-check', 'metrics'].map(peersOf)).toEqual([
      'kube-system',
      'kube-system',
      'prometheus',
    ]);
  });

  it('ingress sets the class and the hosts of the public addresses', () => {
    const [ingress] = ofKind(baseWith(['ingress']), 'Ingress');
    const hosts = ['api.example.org', 'staff.example.org'];
    expect(ingress!['spec']).toMatchObject({
      ingressClassName: 'traefik',
      rules: hosts.map((host) => ({ host })),
      tls: hosts.map((host) => ({ hosts: [host] })),
    });
  });

  it('hpa scales API and worker by CPU', () => {
    const scalers = ofKind(baseWith(['hpa']), 'HorizontalPodAutoscaler');
    expect(scalers.map(({ spec }) => [spec.scaleTargetRef.name, spec.metrics[0].resource.name])).toEqual([
      ['api', 'cpu'],
      ['worker', 'cpu'],
    ]);
  });

  it('prometheus-operator scrapes every process and has the rules of deploy/prometheus', () => {
    const objects = baseWith(['prometheus-operator']);
    const { spec } = ofKind(objects, 'PodMonitor')[0]!;
    const scraped = workloadsOf(objects).filter(({ labels }) => selects(spec.selector, labels));
    expect(scraped.map(({ name }) => name).toSorted()).toEqual(Object.keys(READERS).toSorted());
    for (const { container } of scraped)
      expect(container.ports!.map(({ name }) => name)).toContain(spec.podMetricsEndpoints[0].port);
    const rules = parse(fileOf('deploy/prometheus/alerts.yml')) as object;
    expect(ofKind(objects, 'PrometheusRule')[0]!['spec']).toEqual(rules);
    expect(parse(fileOf('deploy/helm/onecode/alerts.yml'))).toEqual(rules);
  });

  it('oidc gives only the console the secret of the identity provider, which it may reach', () => {
    const given = ['OIDC_ISSUER=https://id.example.com', 'OIDC_CLIENT_ID=onecode'];
    const objects = withComponent('oidc', given);
    const workloads = workloadsOf(objects);
    const ofStaff = workloads.filter((one) => secretFiles(one).includes('OIDC_CLIENT_SECRET'));
    expect(ofStaff.map(({ name }) => name)).toEqual(['console']);
    const { container, labels } = ofStaff[0]!;
    for (const line of given) {
      const [name, value] = line.split('=');
      expect(
        valueOf(
          objects,
          container.env!.find((one) => one.name === name)!,
        ),
      ).toBe(value);
    }
    expect(literal(container, 'OIDC_CLIENT_SECRET_FILE')).toBe('/etc/onecode/OIDC_CLIENT_SECRET');
    const policy = ofKind(objects, 'NetworkPolicy').find(({ metadata }) => metadata.name === 'provider')!;
    expect(selects(policy['spec'].podSelector, labels)).toBe(true);
  });

  it('pooler gives the console and the command line their own entry', () => {
    const given = workloadsOf(withComponent('pooler', [])).map((one) => [
      one.name,
      literal(one.container, 'DATABASE_POOLER'),
      one.pod['volumes'][0].secret.items[0].key,
    ]);
    expect(Object.fromEntries(given.map(([name, ...rest]) => [name, rest]))).toEqual({
      migration: [undefined, 'MIGRATE_DATABASE_URL'],
      api: ['transaction', 'DATABASE_URL'],
      worker: ['transaction', 'DATABASE_URL'],
      console: ['transaction', 'CONSOLE_DATABASE_URL'],
      operator: ['transaction', 'CONSOLE_DATABASE_URL'],
    });
  });

  it('mail lets only the workers of an overlay send mail', () => {
    const objects = withComponent('mail', ['MAIL_FROM=codes@example.com']);
    const workloads = workloadsOf(objects);
    const mails = workloads.filter((one) => secretFiles(one).includes('SMTP_URL'));
    expect(mails.map(({ name }) => name)).toEqual(['worker']);
    const { container, labels } = mails[0]!;
    const from = container.env!.find(({ name }) => name === 'MAIL_FROM')!;
    expect(valueOf(objects, from)).toBe('codes@example.com');
    expect(literal(container, 'SMTP_URL_FILE')).toBe('/etc/onecode/SMTP_URL');
    const smtp = ofKind(objects, 'NetworkPolicy').find(({ metadata }) => metadata.name === 'smtp')!;
    expect(selects(smtp['spec'].podSelector, labels)).toBe(true);
    expect(smtp['spec'].egress[0].ports.map(({ port }: { port: number }) => port)).toEqual([465, 587]);
  });
});

describeIf(KUBECTL !== null).each(OVERLAYS)(
  `deploy/kubernetes/overlays/%s${KUBECTL ? '' : NONE}`,
  (overlay) => {
    const objects = KUBECTL === null ? [] : render(KUBECTL, `overlays/${overlay}`);
    const workloads = workloadsOf(objects);
    const ours = workloads.filter(({ name }) => name in READERS || name in OTHERS);
    const processes = workloads.filter(({ name }) => name in READERS);
    const workload = (name: string): Workload => workloads.find((one) => one.name === name)!;

    it('has only valid Kubernetes objects', () => {
      expect(manifestFaults(objects)).toEqual([]);
    });

    it('has unique objects in one namespace', () => {
      const ids = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
      expect(new Set(ids).size).toBe(ids.length);
      const [namespace] = ofKind(objects, 'Namespace');
      const others = objects.filter((one) => one !== namespace);
      expect(others.filter(({ metadata }) => metadata.namespace !== namespace!.metadata.name)).toEqual([]);
    });

    it('runs every process and the migrations with the command of its image', () => {
      expect(ours.map(({ name }) => name).toSorted()).toEqual(
        [...Object.keys(READERS), ...Object.keys(OTHERS)].toSorted(),
      );
      const stages = fileOf('Dockerfile').split(/^FROM /m);
      const commandOf = (stage: string): unknown =>
        JSON.parse(/^CMD (.*)$/m.exec(stages.find((text) => text.startsWith(`service AS ${stage}\n`))!)![1]!);
      for (const { name, container } of processes) expect(container.command).toEqual(commandOf(name));
      expect(workload('migration').container.command).toEqual(commandOf('operator'));
    });

    it('names a release of each image, never latest', () => {
      for (const { container } of workloads)
        expect(container.image).toMatch(/^[\w./-]+(?::\d+)?[\w./-]*:(?!latest)\d[\w.-]*$/);
      for (const name of ['postgres', 'redis'])
        for (const { container } of workloads.filter((one) => one.name === name))
          expect(container.image).toBe(compose.services[name]!.image);
    });

    describe.each(Object.keys(READERS))('the %s', (name) => {
      let folder: string;
      beforeAll(() => {
        folder = mkdtempSync(join(tmpdir(), 'onecode-kubernetes-'));
        for (const [secret, value] of Object.entries(SECRETS)) writeFileSync(join(folder, secret), value);
      });
      afterAll(() => rmSync(folder, { recursive: true }));

      it('has an environment with which it starts, without unused variables', () => {
        const { container } = workload(name);
        const environment = Object.fromEntries(
          (container.env ?? []).map((variable) => [variable.name, valueOf(objects, variable)]),
        );
        // On this machine, the files of the secrets are in another folder.
        for (const one of Object.keys(environment).filter((variable) => variable.endsWith('_FILE')))
          environment[one] = environment[one]!.replace(/^\/etc\/onecode\//, `${folder}/`);
        const config = READERS[name]!(environment);
        const read = Object.keys(config);
        const unread = names(container).filter((one) => !read.includes(one.replace(/_FILE$/, '')));
        expect(unread).toEqual([]);
      });

      it('has every secret that it needs as a file', () => {
        const missing = faultsOf(() => READERS[name]!({})).map((fault) => fault.replace(' is missing', ''));
        // An optional variable: only the API and the console find sends by number.
        if (name !== 'worker') missing.push('NUMBER_PEPPER');
        const needed = missing.filter((one) => one in SECRETS);
        expect(names(workload(name).container).filter((one) => one in SECRETS)).toEqual([]);
        expect(secretFiles(workload(name)).toSorted()).toEqual(needed.toSorted());
      });

      it('has the ports that its variables name, and probes on the port for metrics', () => {
        const { container } = workload(name);
        const ports = new Map(container.ports!.map((one) => [one.name, String(one.containerPort)]));
        expect(ports.get('metrics')).toBe(literal(container, 'METRICS_PORT'));
        expect(ports.get('http')).toBe(literal(container, 'PORT'));
        expect(literal(container, 'METRICS_HOST')).toBe('::');
        const probes = ['startupProbe', 'livenessProbe', 'readinessProbe'];
        expect(probes.map((probe) => container[probe].httpGet)).toEqual(
          ['/livez', '/livez', '/readyz'].map((path) => ({ path, port: 'metrics' })),
        );
      });

      it('has the time that its shutdown needs', () => {
        const { container, pod } = workload(name);
        const delaySeconds = Number(literal(container, 'SHUTDOWN_DELAY_MS') ?? 0) / 1_000;
        expect(pod['terminationGracePeriodSeconds']).toBeGreaterThanOrEqual(
          delaySeconds + STOP_SECONDS_MAX + 5,
        );
        // A process that gets requests keeps answering until all load balancers know that it stops.
        if (literal(container, 'PORT') !== undefined) expect(delaySeconds).toBeGreaterThanOrEqual(5);
      });
    });

    it.each(Object.keys(OTHERS))('gives the %s exactly the variables and secret files it reads', (name) => {
      const { container } = workload(name);
      expect(names(container).toSorted()).toEqual([...OTHERS[name]!].toSorted());
      expect(secretFiles(workload(name)).map((one) => `${one}_FILE`)).toEqual(
        names(container).filter((one) => one.endsWith('_FILE')),
      );
    });

    it('lets no container write to its file system, run as root, gain rights or hold a token of the cluster', () => {
      for (const { pod, container } of workloads) {
        expect(pod).toMatchObject({
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
        });
        // A number: the name of an image's user cannot be checked.
        expect(pod['securityContext'].runAsUser).toBeGreaterThan(0);
        expect(container['securityContext']).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    });

    it('limits the memory of every container, and reserves memory and processor', () => {
      for (const { container } of workloads)
        expect(container['resources']).toEqual({
          requests: { cpu: expect.any(String), memory: expect.any(String) },
          limits: { memory: expect.any(String) },
        });
    });

    it('points every service, budget and policy to existing processes and ports', () => {
      for (const { object, labels } of workloads.filter((one) => one.object.kind !== 'Job'))
        expect(selects(object['spec'].selector, labels)).toBe(true);
      for (const service of ofKind(objects, 'Service')) {
        const selected = workloads.filter(({ labels }) =>
          selects({ matchLabels: service['spec'].selector }, labels),
        );
        expect(selected.map(({ name }) => name)).toEqual([service.metadata.name]);
        for (const { targetPort } of service['spec'].ports)
          expect(selected[0]!.container.ports!.map(({ name }) => name)).toContain(targetPort);
      }
      const budgets = ofKind(objects, 'PodDisruptionBudget');
      const guarded = budgets.map((budget) =>
        workloads
          .filter(({ labels }) => selects(budget['spec'].selector, labels))
          .map(({ name }) => name)
          .join(),
      );
      expect(guarded.toSorted()).toEqual(Object.keys(READERS).toSorted());
      for (const policy of ofKind(objects, 'NetworkPolicy')) {
        const selected = workloads.filter(({ labels }) => selects(policy['spec'].podSelector, labels));
        expect(selected).not.toHaveLength(0);
        const rules = (policy['spec'].ingress ?? []) as { ports?: { port: string }[] }[];
        const ports = rules.flatMap((rule) => rule.ports ?? []);
        for (const { port } of ports)
          for (const { container } of selected)
            expect(container.ports!.map(({ name }) => name)).toContain(port);
      }
    });

    it('denies all traffic that no policy allows', () => {
      const deny = ofKind(objects, 'NetworkPolicy').find(({ metadata }) => metadata.name === 'default-deny');
      expect(deny!['spec']).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
    });

    it('routes the public address of each process to this process', () => {
      const { data } = ofKind(objects, 'ConfigMap').find(({ metadata }) =>
        metadata.name.startsWith('onecode-'),
      )!;
      const addresses = { api: data.BASE_URL, console: data.CONSOLE_URL };
      const routes = ofKind(objects, 'HTTPRoute').map(({ metadata, spec }) => {
        expect(spec.rules[0].backendRefs).toEqual([{ name: metadata.name, port: 80 }]);
        return [metadata.name, `https://${spec.hostnames[0]}`];
      });
      expect(routes).toEqual(overlay === 'production' ? Object.entries(addresses) : []);
    });

    it('scales by existing metrics or CPU, and sets the number of processes nowhere else', () => {
      const scaled = ofKind(objects, 'ScaledObject');
      expect(scaled).toHaveLength(overlay === 'production' ? 2 : 0);
      for (const { metadata, spec } of scaled) {
        const { object } = workload(spec.scaleTargetRef.name);
        expect(object['spec'].replicas).toBeUndefined();
        const [{ type, metadata: metric }, cpu] = spec.triggers;
        expect([type, cpu.type, metric.ignoreNullValues]).toEqual(['prometheus', 'cpu', 'false']);
        const [, name, namespace] = /(onecode_\w+)\{namespace="(.*)"\}/.exec(metric.query)!;
        expect(OWN_METRICS).toContain(metricOf(name!));
        expect(namespace).toBe(metadata.namespace);
      }
    });
  },
);

describeIf(KUBECTL !== null)(`deploy/kubernetes/overlays/production${KUBECTL ? '' : NONE}`, () => {
  const objects = KUBECTL === null ? [] : render(KUBECTL, 'overlays/production');
  const workloads = workloadsOf(objects);
  interface Egress {
    to: any[];
    ports: { port: number }[];
  }
  const policies = ofKind(objects, 'NetworkPolicy') as any[];
  const rules = policies.flatMap(({ spec }) => (spec.egress ?? []) as Egress[]);

  it('lets processes reach each other by port numbers, which every network plugin supports', () => {
    for (const { to, ports } of rules)
      for (const { podSelector } of to.filter((one) => one.podSelector !== undefined)) {
        const reached = workloads.filter(({ labels }) => selects(podSelector, labels));
        expect(reached).toHaveLength(1);
        const open = reached[0]!.container.ports!.map(({ containerPort }) => containerPort);
        for (const { port } of ports) expect(open).toContain(port);
      }
  });

  it('lets processes reach PostgreSQL and Redis only at their addresses', () => {
    const stores = rules.filter(({ ports }) => ports.some(({ port }) => [5432, 6379].includes(port)));
    expect(stores).toHaveLength(2);
    for (const to of stores.flatMap((rule) => rule.to))
      expect(to).toEqual({ ipBlock: { cidr: expect.stringMatching(/\/32$/) } });
  });

  it('lets the operator’s doctor reach PostgreSQL, Redis and the webhook', () => {
    const { labels, container } = workloads.find(({ name }) => name === 'operator')!;
    const own = policies.filter(({ spec }) => selects(spec.podSelector, labels));
    const reached = (port: number): any[] =>
      own
        .flatMap(({ spec }) => (spec.egress ?? []) as Egress[])
        .filter(({ ports }) => ports.some((one) => one.port === port))
        .flatMap(({ to }) => to);
    expect(reached(5432)).not.toEqual([]);
    expect(reached(6379)).not.toEqual([]);
    const baseUrl = container.env!.find(({ name }) => name === 'BASE_URL')!;
    expect(valueOf(objects, baseUrl)).toMatch(/^https:/);
    const namespaces = reached(443).map((to) => to.namespaceSelector?.matchLabels);
    expect(namespaces).toContainEqual({ 'kubernetes.io/metadata.name': 'gateway' });
    expect(reached(443).map((to) => to.ipBlock?.cidr)).toContain('0.0.0.0/0');
  });
});

it('docs/kubernetes.md creates every secret that the manifests mount', () => {
  const page = fileOf('docs/kubernetes.md');
  const [, file] = /<<END\n([^]*?)^END$/m.exec(page)!;
  const named = [...file!.matchAll(/^(\w+)=/gm)].map(([, name]) => name!);
  expect(named.toSorted()).toEqual(Object.keys(SECRETS).toSorted());
});

/** Returns the value that Kubernetes gives to a variable. */
function valueOf(
  objects: readonly KubernetesObject[],
  { name, value, valueFrom }: NonNullable<Container['env']>[number],
): string {
  if (value !== undefined) return value;
  const source = valueFrom?.['configMapKeyRef'];
  const map = ofKind(objects, 'ConfigMap').find(({ metadata }) => metadata.name === source?.name);
  const found = map?.['data'][source!.key] as string | undefined;
  if (found === undefined) throw new Error(`${name} comes from nowhere`);
  return found;
}

/** Returns the secrets that a container has as files, after checking that its variables name the same ones. */
function secretFiles({ pod, container }: Workload): string[] {
  const [mount] = container['volumeMounts'] as { name: string; mountPath: string; readOnly: boolean }[];
  const volume = pod['volumes'].find(({ name }: { name: string }) => name === mount!.name);
  const files = (volume.secret.items as { key: string; path: string }[]).map(({ key, path }) => {
    expect(literal(container, `${key}_FILE`)).toBe(`${mount!.mountPath}/${path}`);
    return key;
  });
  expect(mount!.readOnly).toBe(true);
  expect(names(container).filter((name) => name.endsWith('_FILE'))).toHaveLength(files.length);
  return files;
}
