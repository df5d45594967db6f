/** The service's address in the contract; the API puts its own in its place when it serves a page. */
export const SERVICE = 'https://api.example.com';
