import { onecode } from './lib/onecode';

try {
  onecode();
} catch (error) {
  // Next.js itself would go on, and answer every request with 500.
  console.error(error);
  process.exit(1);
}
