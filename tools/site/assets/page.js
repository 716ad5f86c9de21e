// The pages are whole without this: it adds a button that copies a block of code, and follows old links to operations.
if (/\/docs$/.test(location.pathname) && location.hash.startsWith('#/'))
  location.replace(`docs/reference${location.hash}`);

for (const block of document.querySelectorAll('.code')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  const [copy, copied] = document.documentElement.lang === 'fr' ? ['Copier', 'Copié'] : ['Copy', 'Copied'];
  button.textContent = copy;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('code').textContent);
    button.textContent = copied;
    setTimeout(() => (button.textContent = copy), 1500);
  });
  // A page on plain http has no clipboard.
  if (navigator.clipboard) block.append(button);
}
