/** The service's address in the contract; the API puts its own in its place when it serves a page. */
export const SERVICE = 'https://api.example.com';
/** The console's address in the pages, in the place of which the API puts `CONSOLE_URL` likewise. */
export const CONSOLE = 'https://console.example.com';
