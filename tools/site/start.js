// Swagger UI on the page of the API reference, in the theme of the browser. Relative links work behind any prefix.
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
// For screen readers: Swagger UI has the path of an operation as a link inside a button.
const plain = (system) => ({
  components: { DeepLink: ({ text }) => system.React.createElement('span', null, text) },
});
window.SwaggerUIBundle({
  url: '../openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  persistAuthorization: false,
  tryItOutEnabled: true,
  plugins: [plain],
});
