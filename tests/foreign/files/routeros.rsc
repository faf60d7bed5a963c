# 2026-10-01 09:12:44 by RouterOS 7.16
# software id = ABCD-1234
/interface ethernet
set [ find default-name=ether1 ] comment=WAN
/queue type
add kind=fq-codel name=fq-codel-home fq-codel-limit=2000 fq-codel-target=8ms
add cake-ack-filter=filter cake-bandwidth=18.5M cake-diffserv=besteffort cake-nat=yes cake-overhead=44 \
    cake-overhead-scheme=pppoe-ptm cake-rtt=60ms kind=cake name=cake-up
add cake-flowmode=dual-dsthost cake-nat=yes kind=cake name=cake-down
/queue simple
add max-limit=20M/95M name=wan queue=cake-up/cake-down target=ether1 bucket-size=0.01/0.01
add max-limit=5M/5M name=guests queue=fq-codel-home/fq-codel-home target=10.0.2.0/24
