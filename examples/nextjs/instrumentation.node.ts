import { onecode } from './lib/onecode';

try {
  onecode();
} catch (error) {
  // Otherwise Next.js would keep running and return 500 for every request.
  console.error(error);
  process.exit(1);
}
