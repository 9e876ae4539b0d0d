'use strict';
// Shows what it is told while the page is closed, and opens the row on a tap. What comes is text and stays text.
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('push', (event) => {
  let told = {};
  try { told = event.data.json(); } catch { /* Something must be shown all the same. */ }
  const { text = 'Someone waits', topic = 'fleet', row = null } = told || {};
  event.waitUntil(self.registration.showNotification('fleetwatch', {
    body: String(text), tag: String(topic), renotify: true, icon: '/icon.png', data: { row },
  }));
});
self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data && event.notification.data.row));
});
// The browser has ended what it was told by. The server learns of a new one from the page alone, which has the token.
self.addEventListener('pushsubscriptionchange', (event) => event.waitUntil(renew(event)));
async function renew({ oldSubscription, newSubscription }) {
  try {
    if (!newSubscription && oldSubscription) await self.registration.pushManager.subscribe(oldSubscription.options);
  } catch { /* Then the page asks for one. */ }
  await self.registration.showNotification('fleetwatch', {
    body: 'Open fleetwatch once to keep getting notices.', tag: 'subscription', icon: '/icon.png', data: { row: null },
  });
}
async function open(row) {
  const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const page = pages.find((it) => it.visibilityState === 'visible') || pages[0];
  if (!page) return self.clients.openWindow('/#row=' + encodeURIComponent(JSON.stringify(row)));
  page.postMessage({ row });
  return page.focus();
}
