import { readdirSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { LOG_LEVELS } from '@onecode/runtime';
import { SETTING_BOUNDS } from '@onecode/store/accounts';
import { readEnvironment } from '../packages/simulator/src/settings.js';
import { faultsOf, PROCESS_VARIABLES, READERS } from './processVariables.js';

const REQUIRED: Readonly<Record<string, string>> = PROCESS_VARIABLES;
const root = new URL('..', import.meta.url);
const fileOf = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const page = fileOf('docs/configuration.md');
const simulatorPage = fileOf('packages/simulator/README.md');
const PROCESSES = Object.keys(READERS);

function sectionOf(title: string, text = page): string {
  const section = text.split(/^## /m).find((one) => one.startsWith(`${title}\n`));
  if (section === undefined) throw new Error(`the page has no section ${title}`);
  return section;
}

/**
 * The variables of one process, or of the table of another section, each with its default as written: a value in code, `required`, or
 * other words.
 */
function tableOf(heading: string, text = page): Map<string, string> {
  const isProcess = PROCESSES.includes(heading);
  const section = sectionOf(isProcess ? 'Processes' : heading, text);
  const rows = [...section.matchAll(/^\| `(\w+)` *\| (.*) \|$/gm)];
  const column = isProcess ? PROCESSES.indexOf(heading) : 0;
  const defaults = rows.map(([, name, cells]) => [name!, cells!.split('|')[column]!.trim()] as const);
  // A dash: the process does not read it.
  return new Map(defaults.filter(([, written]) => written !== '–'));
}

/** The variables that a section without a table names. `NAME_FILE` stands for `NAME`. */
const namedIn = (heading: string): string[] =>
  [...new Set(sectionOf(heading).match(/(?<=`)[A-Z][A-Z_]+(?=[`=])/g))].filter(
    (name) => !name.endsWith('_FILE'),
  );

const documentedNames = (): Set<string> =>
  new Set([
    ...(page.match(/(?<=^\| `)[A-Z_]+(?=`)/gm) ?? []),
    ...namedIn('Command line'),
    ...namedIn('Migrations'),
  ]);

/** What a configuration's reader gives each variable: `required`, `none`, or its default. */
function declaredBy(read: (environment: NodeJS.ProcessEnv) => object): Map<string, string> {
  const missing = faultsOf(() => read({})).map((fault) => /^([A-Z_]+) is missing$/.exec(fault)![1]!);
  const required = Object.fromEntries(missing.map((name) => [name, REQUIRED[name]]));
  const defaults = Object.entries(read(required)).filter(([name]) => !missing.includes(name));
  return new Map([
    ...missing.map((name) => [name, 'required'] as const),
    // A keyring that is not set is derived from another one.
    ...defaults.map(
      ([name, value]) =>
        [name, value === '' ? 'none' : typeof value === 'object' ? 'derived' : `\`${value}\``] as const,
    ),
  ]);
}

/** Returns the variables that a configuration can also read from files. */
function secretsOf(read: (environment: NodeJS.ProcessEnv) => object): string[] {
  const names = Object.keys(read(REQUIRED));
  const files = Object.fromEntries(names.map((name) => [`${name}_FILE`, '/dev/null/missing']));
  return faultsOf(() => read(files)).flatMap(
    (fault) => /^([A-Z_]+) cannot be read: .* must name a readable file/.exec(fault)?.[1] ?? [],
  );
}

/** Replaces `<NAME>` by the value of that variable. */
const resolved = (table: Map<string, string>): Map<string, string> =>
  new Map(
    [...table].map(([name, written]) => [name, written.replace(/<(\w+)>/, (_, other) => REQUIRED[other]!)]),
  );

/** As an object, which compares without regard to order and shows a difference by its name. */
const byName = (map: Iterable<readonly [string, string]>): Record<string, string> => Object.fromEntries(map);

/** The names of the variables that a folder's or a file's sources read by name. */
function namesReadIn(path: string): Set<string> {
  const files = path.endsWith('/')
    ? readdirSync(new URL(path, root), { recursive: true, encoding: 'utf8' }).map((name) => path + name)
    : [path];
  const sources = files.filter((name) => /\.(?:ts|mjs)$/.test(name)).map(fileOf);
  const patterns = [
    /process\.env\[?'?\.?([A-Z_]+)/g,
    /readConfig\([^{]*\{([^}]*)\}/g,
    /\{([^{}]*)\} = process\.env\b/g,
  ];
  const texts = sources.flatMap((source) =>
    patterns.flatMap((pattern) => [...source.matchAll(pattern)].map(([, text]) => text!)),
  );
  // A group of variables, as `...PROXY`, is no variable.
  return new Set(texts.flatMap((text) => text.match(/(?<!\.\.\.)\b[A-Z][A-Z_]{2,}\b/g) ?? []));
}

describe('docs/configuration.md', () => {
  it.each(PROCESSES)('lists the variables of the %s with their defaults', (name) => {
    expect(byName(resolved(tableOf(name)))).toEqual(byName(declaredBy(READERS[name]!)));
  });

  it('lists the secrets that may be in files', () => {
    const section = /^## Secrets in files\n([^#]*)/m.exec(page)![1]!;
    const listed = [...section.split('These are secrets: ')[1]!.matchAll(/`(\w+)`/g)].map(
      ([, name]) => name!,
    );
    const read = Object.values(READERS).flatMap(secretsOf);
    expect(listed.toSorted()).toEqual([...new Set([...read, 'MIGRATE_DATABASE_URL'])].toSorted());
  });

  it('lists the variables of the command line', () => {
    // `NAME_FILE` stands for `NAME`. The group `PROXY` has the proxy's variables.
    const names = [...namesReadIn('apps/cli/src/')].filter((name) => !name.endsWith('_FILE'));
    names.push('HTTPS_PROXY', 'NO_PROXY');
    expect(namedIn('Command line').toSorted()).toEqual(names.toSorted());
  });

  it('lists the variables of the migrations', () => {
    const { scripts } = JSON.parse(fileOf('package.json')) as { scripts: Record<string, string> };
    const source = scripts['migrate']!.replace(/^node /, '')
      .replace('/dist/', '/src/')
      .replace(/\.js$/, '.ts');
    expect(namedIn('Migrations').toSorted()).toEqual([...namesReadIn(source)].toSorted());
    expect(page).toContain(`\`${scripts['migrate']}\``);
  });

  it('lists the variables of the scripts, and those that docker compose reads from .env', () => {
    const documented = documentedNames();
    const taken = [...fileOf('docker-compose.yml').matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name!);
    const ofTheSystem = new Set(['PATH', 'TERM']);
    const unlisted = [...namesReadIn('scripts/'), ...taken].filter(
      (name) => !documented.has(name) && !ofTheSystem.has(name),
    );
    expect(unlisted).toEqual([]);
    const added = [...tableOf('`npm start`, `npm test` and `docker compose`').keys()];
    const scripts = readdirSync(new URL('scripts/', root), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.mjs'))
      .map((name) => fileOf(`scripts/${name}`))
      .join('\n');
    expect(added.filter((name) => !scripts.includes(name) && !taken.includes(name))).toEqual([]);
  });

  it('names every log level', () => {
    const levels = /^- `LOG_LEVEL` .*$/m.exec(page)![0];
    expect(LOG_LEVELS.filter((level) => !levels.includes(`\`${level}\``))).toEqual([]);
  });

  it("lists the operators' settings with their defaults and bounds", () => {
    const schema = fileOf('prisma/schema.prisma');
    const model = /^model Settings \{([^}]*)\}/m.exec(schema)![1]!;
    const declared = [
      ...model.matchAll(/^ *(\w+) +(?:Int|String)\??(?: +@default\("?(\w+)"?\))? +@map\("(\w+)"\)/gm),
    ];
    const settings = new Map(declared.map(([, , value = 'off', column]) => [column!, `\`${value}\``]));
    for (const column of ['mail_from', 'trial_sends_of_day']) settings.delete(column);
    expect(byName(tableOf("Operators' settings"))).toEqual(byName(settings));
    const columns = new Map(declared.map(([, field, , column]) => [field!, column!]));
    for (const [field, { min, max }] of Object.entries(SETTING_BOUNDS)) {
      const row = new RegExp(`^\\| \`${columns.get(field)}\`.*$`, 'm').exec(page)![0];
      expect(row).toContain(`${min} to ${max}`);
    }
  });
});

describe('packages/simulator/README.md', () => {
  it('lists its variables with their defaults', () => {
    const read = new Set<string>();
    const environment = readEnvironment(
      new Proxy<NodeJS.ProcessEnv>(REQUIRED, {
        get(variables, name: string) {
          read.add(name);
          return name === 'WHATSAPP_VERIFY_TOKEN' ? undefined : variables[name];
        },
      }),
    );
    const { sentMs, deliveredMs, readMs } = environment.delays;
    const defaults: Record<string, string | number | null | undefined> = {
      WHATSAPP_VERIFY_TOKEN: environment.verifyToken,
      PORT: environment.port,
      HOST: environment.host,
      METRICS_PORT: environment.metricsPort,
      METRICS_HOST: environment.metricsHost,
      SENT_DELAY_MS: sentMs,
      DELIVERED_DELAY_MS: deliveredMs,
      READ_DELAY_MS: readMs,
      KEEP_MESSAGES: environment.keep,
      DISPLAY_PHONE_NUMBERS: null,
    };
    const missing = new Set(
      faultsOf(() => readEnvironment({})).map((fault) => fault.replace(' is missing', '')),
    );
    const declared = [...read].map((name): [string, string] => {
      if (missing.has(name)) return [name, 'required'];
      return [name, defaults[name] === null ? 'none' : `\`${defaults[name]}\``];
    });
    expect(byName(tableOf('Variables', simulatorPage))).toEqual(byName(declared));
  });
});

describe('a fault of the environment', () => {
  const MALFORMED = /^NAME must have a valid host and port, .* user and password percent-encoded/;
  const PLAIN = /^NAME must be an address without @, \? and #$/;
  const SMTP = { MAIL_FROM: 'codes@example.com' };
  const OIDC = { OIDC_CLIENT_ID: 'console', OIDC_CLIENT_SECRET: 'secret' };
  const META = { WHATSAPP_API_URL: 'https://graph.facebook.com/v25.0' };

  it.each<[process: string, name: string, value: string, fault: string | RegExp, others?: object]>([
    ...['lea#ked', 'lea/ked', 'lea?ked', 'lea@ked', 'lea%ked', 'leaked%ff'].flatMap(
      (text): [string, string, string, RegExp, object][] => [
        ['worker', 'SMTP_URL', `smtp://u:${text}@h`, MALFORMED, SMTP],
        ['worker', 'HTTPS_PROXY', `http://u:${text}@h:3128`, MALFORMED, META],
        ['worker', 'HTTPS_PROXY', `http://${text}:p@h:3128`, MALFORMED, META],
      ],
    ),
    [
      'worker',
      'SMTP_URL',
      'http://leaked',
      'NAME must be an address that begins with smtp:// or smtps://',
      SMTP,
    ],
    ['worker', 'SMTP_URL', 'smtp:///leaked', MALFORMED, SMTP],
    ['worker', 'SMTP_URL', 'smtps://leaked:70000', MALFORMED, SMTP],
    [
      'worker',
      'HTTPS_PROXY',
      'leaked:3128',
      'NAME must be an address that begins with http:// or https://',
      META,
    ],
    [
      'worker',
      'HTTPS_PROXY',
      'socks5://leaked',
      'NAME must be an address that begins with http:// or https://',
      META,
    ],
    ['worker', 'WHATSAPP_API_URL', 'https://u:leaked@h/v25.0', PLAIN],
    ['worker', 'WHATSAPP_API_URL', 'https://h/v25.0?leaked', PLAIN],
    ['worker', 'CONSOLE_URL', 'https://leaked:65536', MALFORMED],
    ['worker', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'http://leaked@h', PLAIN],
    [
      'worker',
      'MAIL_FROM',
      '',
      'NAME is missing: with SMTP_URL set, mails need a sender address',
      { SMTP_URL: 'smtp://h' },
    ],
    ['api', 'BASE_URL', 'https://', MALFORMED],
    ['api', 'DOCS_URL', 'https://h/#leaked', PLAIN],
    [
      'api',
      'CODE_PEPPER',
      'x:leaked',
      'NAME must have whole numbers from 1 to 255 as the versions of its keys',
    ],
    ['api', 'WHATSAPP_VERIFY_TOKEN', 'lea\nked', 'NAME must be one line without control characters'],
    ['api', 'WHATSAPP_APP_SECRET', 'lea\nked', /^NAME must be one secret or several .* on one line$/],
    ['console', 'OIDC_ISSUER', 'https://h/?leaked', PLAIN, OIDC],
    ['console', 'OIDC_ISSUER', 'http://leaked', /^NAME must begin with https:/, OIDC],
    [
      'console',
      'OIDC_ISSUER',
      'leaked',
      'NAME must be an address that begins with http:// or https://',
      OIDC,
    ],
    [
      'console',
      'SUPPORT_URL',
      'https:/leaked',
      'NAME must be an address that begins with https:// or mailto:',
    ],
    ['console', 'SUPPORT_URL', 'https://lea ked', /^NAME must name a valid host/],
    ['console', 'SUPPORT_URL', 'mailto:leaked', /^NAME must name a valid host/],
    ['console', 'API_URL', 'http://leaked:port', MALFORMED],
  ])('is reported with the name of the variable: %s, %s=%j', (process, name, value, fault, others = {}) => {
    const faults = faultsOf(() => READERS[process]!({ ...REQUIRED, ...others, [name]: value }));
    expect(faults.map((line) => line.replace(name, 'NAME'))).toEqual([expect.stringMatching(fault)]);
    expect(faults.join()).not.toMatch(/leaked|lea.ked/);
  });

  it.each([
    ['worker', { SMTP_URL: 'smtp://me%40x.com:p%23%2F%3F%25@[::1]:25/?pool=false', ...SMTP }],
    ['worker', { HTTPS_PROXY: 'http://u:p%40@proxy:3128/', ...META }],
    ['console', { SUPPORT_URL: 'https://h/a?b#c' }],
    ['console', { SUPPORT_URL: 'mailto:help@example.com?subject=Credits%20please' }],
    ['console', { OIDC_ISSUER: 'http://[::1]:9000/realm/', ...OIDC }],
  ])('is not reported for valid variables of the %s: %j', (process, variables) => {
    expect(faultsOf(() => READERS[process]!({ ...REQUIRED, ...variables }))).toEqual([]);
  });

  it('is reported with all other faults', () => {
    const environment = {
      ...REQUIRED,
      HTTPS_PROXY: 'proxy',
      ...META,
      DATABASE_URL: 'x',
    };
    expect(faultsOf(() => READERS['worker']!(environment))).toHaveLength(2);
    expect(faultsOf(() => READERS['console']!({ ...REQUIRED, OIDC_ISSUER: 'x', PORT: 'x' }))).toHaveLength(2);
  });
});

describe('.env.example', () => {
  const example = parseEnv(fileOf('.env.example')) as Record<string, string>;

  it('explains only variables that docs/configuration.md lists', () => {
    const documented = documentedNames();
    expect(Object.keys(example).filter((name) => !documented.has(name))).toEqual([]);
  });

  it('explains every variable of the processes and the command line', () => {
    const names = [
      ...PROCESSES.flatMap((heading) => [...tableOf(heading).keys()]),
      ...namedIn('Command line'),
      ...namedIn('Migrations'),
    ];
    expect(names.filter((name) => name !== 'NODE_ENV' && !(name in example))).toEqual([]);
  });

  it('sets variables only to their defaults', () => {
    const headings = [...PROCESSES, '`npm start`, `npm test` and `docker compose`'];
    const defaults = headings.map((heading) => tableOf(heading));
    const given = Object.entries(example).filter(([, value]) => value !== '');
    const others = given.filter(([name, value]) =>
      defaults.every((table) => table.get(name) !== `\`${value}\``),
    );
    expect(others).toEqual([]);
  });
});
