import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './checkout.mjs';

/**
 * Writes the alerts as an object of the Prometheus operator, and a copy for the Helm chart, which can read only its own folder.
 */
const alerts = readFileSync(join(root, 'deploy/prometheus/alerts.yml'), 'utf8');
const groups = alerts.slice(alerts.indexOf('groups:'));
const title = '# Made from deploy/prometheus/alerts.yml by `npm run generate`.';
writeFileSync(join(root, 'deploy/helm/onecode/alerts.yml'), `${title}\n${groups}`);
writeFileSync(
  join(root, 'deploy/kubernetes/components/prometheus-operator/prometheus-rule.yaml'),
  `${title}
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: onecode
spec:
${groups.replaceAll(/^(?=.)/gm, '  ')}`,
);
