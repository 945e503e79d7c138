// Applies the chosen theme before the first paint. Loaded by itself, ahead of the modules.

try {
  const theme = localStorage.getItem('qala.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
} catch {
  // Without storage, the system's theme is used.
}
