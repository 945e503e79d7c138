import { definePage, route } from '#frame/page';

export default definePage({
  routes: [
    route('/sign-in', () => import('./sign-in'), { layout: 'narrow' }),
    route('/sign-in/email', () => import('./email-link'), { layout: 'narrow' }),
  ],
});
