/** The service's address in the contract. The API replaces it with its own when it serves a page. */
export const SERVICE = 'https://api.example.com';
/** The console's address in the pages. The API replaces it with `CONSOLE_URL`. */
export const CONSOLE = 'https://console.example.com';
