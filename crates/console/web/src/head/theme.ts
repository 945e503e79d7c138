/** Applies the chosen theme. */
export function applyTheme(): void {
  try {
    const theme = localStorage.getItem('qala.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
  } catch {
    // Without storage, the system's theme is used.
  }
}
