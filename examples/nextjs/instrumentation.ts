/** Next.js runs this before it takes requests: without a key and an address of the service, the server does not start. */
export async function register(): Promise<void> {
  if (process.env['NEXT_RUNTIME'] !== 'nodejs') return;
  const { onecode } = await import('./lib/onecode');
  onecode();
}
