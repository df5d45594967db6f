import { contractOf } from '@onecode/store/migrations';
import type pg from 'pg';

interface Column {
  table: string;
  name: string;
  type: string;
  required: boolean;
  /** Whether the database fills it in by itself. */
  filled: boolean;
}

/** What a write has to pass: a check, a unique index, a foreign key, a trigger. */
interface Guard {
  table: string;
  name: string;
  definition: string;
  /** The columns that it looks at; empty when it looks at more than columns. */
  columns: string[];
  unique: boolean;
}

/** A function; one name may have several. */
interface Signature {
  name: string;
  /** Its arguments and its result. */
  signature: string;
  argumentsMin: number;
  argumentsMax: number;
}

/** What the statements of a release rely on. */
export interface Shape {
  columns: Column[];
  functions: Signature[];
  guards: Guard[];
}

/** The shape of the schema `public`, as the transaction of this connection sees it. */
export async function readShape(client: pg.Client): Promise<Shape> {
  const rows = async <Row>(sql: string): Promise<Row[]> => (await client.query(sql)).rows as Row[];
  return {
    columns: await rows<Column>(COLUMNS),
    functions: await rows<Signature>(FUNCTIONS),
    guards: await rows<Guard>(GUARDS),
  };
}

const COLUMNS = `
  select c.relname::text as table, a.attname::text as name, format_type(a.atttypid, a.atttypmod) as type,
    a.attnotnull as required, a.atthasdef or a.attidentity <> '' as filled
  from pg_attribute a join pg_class c on c.oid = a.attrelid
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
    and a.attnum > 0 and not a.attisdropped order by 1, a.attnum`;

const FUNCTIONS = `
  select proname::text as name, pg_get_function_arguments(oid) || ' → ' || pg_get_function_result(oid) as signature,
    pronargs - pronargdefaults as "argumentsMin", pronargs::integer as "argumentsMax"
  from pg_proc where pronamespace = 'public'::regnamespace order by 1, oid`;

const NAMES = (relation: string, keys: string): string => `
  coalesce((select array_agg(a.attname::text) from pg_attribute a where a.attrelid = ${relation} and a.attnum = any (${keys})), '{}')`;

const GUARDS = `
  select c.relname::text as table, k.conname::text as name, pg_get_constraintdef(k.oid) as definition,
    ${NAMES('c.oid', 'k.conkey')} as columns, false as unique
  from pg_constraint k join pg_class c on c.oid = k.conrelid
  where c.relnamespace = 'public'::regnamespace and k.contype in ('c', 'f', 'x')
  union all
  select c.relname, i.relname, pg_get_indexdef(i.oid), ${NAMES('c.oid', 'x.indkey')}, true
  from pg_index x join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
  where c.relnamespace = 'public'::regnamespace and x.indisunique
  union all
  select c.relname, t.tgname, pg_get_triggerdef(t.oid), '{}', false
  from pg_trigger t join pg_class c on c.oid = t.tgrelid
  where c.relnamespace = 'public'::regnamespace and not t.tgisinternal
  order by 1, 2`;

/**
 * Everything for which statements written for the shape before may fail on the shape after, one sentence each.
 *
 * @param refusesNothingNew whether the new guards are taken to refuse only what older ones refused
 */
export function breaks(before: Shape, after: Shape, refusesNothingNew: boolean): string[] {
  return [
    ...columnBreaks(before, after),
    ...functionBreaks(before, after),
    ...(refusesNothingNew ? [] : newGuardBreaks(before, after)),
    ...lostGuardBreaks(before, after),
  ];
}

function columnBreaks(before: Shape, after: Shape): string[] {
  const key = ({ table, name }: Column): string => `${table}.${name}`;
  const old = new Map(before.columns.map((column) => [key(column), column]));
  const now = new Map(after.columns.map((column) => [key(column), column]));
  const tables = new Set(before.columns.map(({ table }) => table));
  const changed = [...old].flatMap(([name, was]) => {
    const is = now.get(name);
    if (is === undefined) return [`column ${name} is gone`];
    return [
      ...(is.type === was.type ? [] : [`column ${name} has become ${is.type}`]),
      ...(is.required && !was.required ? [`column ${name} may no longer be null`] : []),
      ...(!is.required && was.required ? [`column ${name} may now be null`] : []),
      ...(was.filled && !is.filled ? [`column ${name} has lost its default`] : []),
    ];
  });
  const demanded = [...now.values()].filter(
    (column) => tables.has(column.table) && !old.has(key(column)) && column.required && !column.filled,
  );
  return [...changed, ...demanded.map((column) => `column ${key(column)} is new and has to be given`)];
}

/** Another function of the same name is let through where no older call could mean it: it needs more arguments than the older ones take. */
function functionBreaks(before: Shape, after: Shape): string[] {
  return [...new Set(before.functions.map(({ name }) => name))].flatMap((name) => {
    const old = before.functions.filter((one) => one.name === name);
    const now = after.functions.filter((one) => one.name === name);
    if (now.length === 0) return [`function ${name} is gone`];
    const isOld = ({ signature }: Signature): boolean => old.some((one) => one.signature === signature);
    const taken = Math.max(...old.map(({ argumentsMax }) => argumentsMax));
    const isSame =
      now.filter(isOld).length === old.length && now.every((one) => isOld(one) || one.argumentsMin > taken);
    return isSame ? [] : [`function ${name} has another signature`];
  });
}

/** A guard on nothing but new columns meets what the previous release leaves there: their defaults, which it must allow. */
function newGuardBreaks(before: Shape, after: Shape): string[] {
  const old = new Set(before.guards.map(guardId));
  const tables = new Set(before.columns.map(({ table }) => table));
  const columns = new Set(before.columns.map(({ table, name }) => `${table}.${name}`));
  const meetsOldWrites = ({ table, columns: looks }: Guard): boolean =>
    tables.has(table) && (looks.length === 0 || looks.some((name) => columns.has(`${table}.${name}`)));
  return after.guards
    .filter((guard) => !old.has(guardId(guard)) && meetsOldWrites(guard))
    .map(({ table, name }) => `${name} may refuse what is written to ${table}`);
}

/** An insert that names the columns of a conflict fails without their unique index. */
function lostGuardBreaks(before: Shape, after: Shape): string[] {
  const now = new Set(after.guards.map(guardId));
  const isLeft = (table: string): boolean => after.columns.some((column) => column.table === table);
  return before.guards
    .filter((guard) => guard.unique && !now.has(guardId(guard)) && isLeft(guard.table))
    .map(({ table, name }) => `unique index ${name} on ${table} is gone`);
}

const guardId = ({ table, name, definition }: Guard): string => `${table} ${name} ${definition}`;

/** Why a migration may break the statements of older releases, as its line `-- contract: …` says; null without one. */
export function contractReason(sql: string): string | null {
  return contractOf({ name: '', sql })?.reason ?? null;
}

/** Why the new guards of a migration refuse only what older ones refused, as its line `-- refuses nothing new: …` says; or null. */
export function sameRulesReason(sql: string): string | null {
  return /^-- refuses nothing new: +(\S.*)$/m.exec(sql)?.[1] ?? null;
}
