
# 10.2's NVMe controller calls the SPDM sockets, which it selected in 10.0; the CXL tables of ACPI, which are always
# there, call CXL's host, for which there is no stub.
CONFIG_SPDM_SOCKET=y
CONFIG_PXB=y
CONFIG_CXL=y
CONFIG_CXL_MEM_DEVICE=y
