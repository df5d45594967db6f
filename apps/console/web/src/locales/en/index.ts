import type { ResourceKey } from 'i18next';

const FILES = import.meta.glob<ResourceKey>(['./*.json', '!./{auth,board,common}.json'], {
  eager: true,
  import: 'default',
});

/** All texts of the pages in this language, by feature, except those in `first.ts`. */
export const en = Object.fromEntries(
  Object.entries(FILES).map(([path, texts]) => [path.slice('./'.length, -'.json'.length), texts]),
);
