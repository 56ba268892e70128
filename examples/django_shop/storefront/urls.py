"""Where the shop's pages are."""

from django.contrib import admin
from django.urls import path
from orders.views import make_order, show_order

urlpatterns = [
    path("admin/", admin.site.urls),
    path("orders/", make_order),
    path("orders/<int:order>/", show_order),
]
