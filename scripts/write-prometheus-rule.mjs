import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './checkout.mjs';

/** Writes the alerts for the Prometheus operator, which reads the groups of Prometheus's own file within an object. */
const alerts = readFileSync(join(root, 'deploy/prometheus/alerts.yml'), 'utf8');
const groups = alerts.slice(alerts.indexOf('groups:')).replaceAll(/^(?=.)/gm, '  ');
writeFileSync(
  join(root, 'deploy/kubernetes/components/prometheus-operator/prometheus-rule.yaml'),
  `# Made from deploy/prometheus/alerts.yml by \`npm run generate\`.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: onecode
spec:
${groups}`,
);
