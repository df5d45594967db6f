/* global SwaggerUIBundle */
const dark = matchMedia('(prefers-color-scheme: dark)');
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', paint);
paint();

const hidden = () => () => null;

// Keys do not belong in browsers: nothing here can be tried out, and nothing asks for a key.
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  supportedSubmitMethods: [],
  validatorUrl: null,
  plugins: [() => ({ wrapComponents: { authorizeBtn: hidden, authorizeOperationBtn: hidden } })],
});
