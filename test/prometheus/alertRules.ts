import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

interface Rule {
  record?: string;
  alert?: string;
  expr: string;
  labels?: { severity: string; owner?: string };
  annotations?: { summary: string; description?: string; runbook_url: string };
}

export const FILE = 'deploy/prometheus/alerts.yml';
export const EXAMPLE = 'deploy/prometheus/prometheus.yml';
const { groups } = parse(readFileSync(FILE, 'utf8')) as { groups: { rules: Rule[] }[] };
export const rules = groups.flatMap((group) => group.rules);
export const alerts = rules.filter(({ alert }) => alert !== undefined);
